import { labelList } from '../promql/cluster.ts';

/** Joins series of one resource per target, which costs less than deduplicating both sides first. */
export const SAME_RESOURCE = `on ${labelList('job', 'instance', 'station', 'resource_id')}`;
