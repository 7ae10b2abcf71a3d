import { between, pick, type Random } from './random.ts';

/** A resource type: its share of a fleet, its lifetimes and the values of its records. */
export interface ResourceKind {
  readonly key: string;
  readonly label: string;
  readonly namePrefix: string;
  readonly weight: number;
  readonly lifetimeMs: readonly [shortest: number, longest: number];
  /** '': no product. */
  readonly products: readonly string[];
  readonly skus: readonly string[];
  /** The share with GPUs, whose sku counts GPUs; default: 0. */
  readonly gpuShare?: number;
  /** The share with alert rules; undefined: resources of this kind cannot have any. */
  readonly ruleShare?: number;
  readonly maxRules?: number;
}

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const resourceKinds: readonly ResourceKind[] = [
  {
    key: 'resource_type.compute.workspace.v1.instance',
    label: 'Workspace',
    namePrefix: 'ws',
    weight: 16,
    lifetimeMs: [2 * HOUR, 3 * DAY],
    products: ['product.lepton-acp', 'product.lepton-acp', 'product.lepton-acp-new'],
    skus: ['4 vCPU', '8 vCPU', '16 vCPU'],
    gpuShare: 0.6,
    ruleShare: 0.55,
    maxRules: 4,
  },
  {
    key: 'resource_type.compute.acp.v1.trainingJob',
    label: 'Training job',
    namePrefix: 'job',
    weight: 12,
    lifetimeMs: [40 * MINUTE, 4 * DAY],
    products: ['product.lepton-acp', 'product.lepton-acp-new'],
    skus: ['32 vCPU'],
    gpuShare: 0.97,
    ruleShare: 0.7,
    maxRules: 6,
  },
  {
    key: 'resource_type.compute.aec2.v1.instance',
    label: 'AEC2 instance',
    namePrefix: 'aec2',
    weight: 24,
    lifetimeMs: [6 * DAY, 500 * DAY],
    products: ['product.aec2'],
    skus: ['2 vCPU', '4 vCPU', '8 vCPU', '16 vCPU', '64 vCPU', 'n3.large / on demand'],
    gpuShare: 0.45,
    ruleShare: 0.9,
    maxRules: 12,
  },
  {
    key: 'resource_type.compute.ecp.v1.virtualCluster',
    label: 'Virtual cluster',
    namePrefix: 'vc',
    weight: 3,
    lifetimeMs: [60 * DAY, 800 * DAY],
    products: ['product.ecp'],
    skus: ['1 cluster'],
    gpuShare: 0.8,
    ruleShare: 0.95,
    maxRules: 20,
  },
  {
    key: 'resource_type.storage.afs.v1.volume',
    label: 'AFS volume',
    namePrefix: 'afs',
    weight: 20,
    lifetimeMs: [15 * DAY, 900 * DAY],
    products: ['product.afs'],
    skus: ['100 GiB', '500 GiB', '500 GiB', '2048 GiB', '10240 GiB', '1.5 TiB'],
    ruleShare: 0.75,
    maxRules: 5,
  },
  {
    key: 'resource_type.storage.aoss.v1.bucket',
    label: 'Object storage bucket',
    namePrefix: 'bkt',
    weight: 9,
    lifetimeMs: [60 * DAY, 900 * DAY],
    products: ['product.aoss', 'product.aoss', ''],
    skus: ['Standard', 'Standard', 'Infrequent Access'],
  },
  {
    key: 'resource_type.network.eip.v1.eip',
    label: 'Elastic IP',
    namePrefix: 'eip',
    weight: 10,
    lifetimeMs: [4 * DAY, 400 * DAY],
    products: ['product.eip'],
    skus: ['5 Mbps', '100 Mbps', '100 Mbps', '200 Mbps', '1 Gbps'],
    ruleShare: 0.6,
    maxRules: 3,
  },
  {
    key: 'resource_type.network.slb.v1.loadBalancer',
    label: 'Load balancer',
    namePrefix: 'slb',
    weight: 4,
    lifetimeMs: [10 * DAY, 500 * DAY],
    products: ['product.slb'],
    skus: ['slb.s1.small', 'slb.s2.medium', '5000 connections'],
    ruleShare: 0.85,
    maxRules: 6,
  },
  {
    key: 'resource_type.network.vpc.v1.vpc',
    label: 'Virtual private cloud',
    namePrefix: 'vpc',
    weight: 2,
    lifetimeMs: [100 * DAY, 900 * DAY],
    products: [''],
    skus: [''],
  },
];

export const gpuSkus: readonly string[] = ['1 GPU', '1 GPU', '2 GPU', '4 GPU', '8 GPU', '8 GPU'];

export const gpuModels: readonly string[] = [
  'NVIDIA A100-SXM4-80GB',
  'NVIDIA A100-SXM4-80GB',
  'NVIDIA H800',
  'NVIDIA GeForce RTX 4090',
  'Tesla V100-SXM2-32GB',
  'Ascend 910B',
];

/**
 * With dots, colons and spaces, as in real names. Buckets may have Chinese ones: they seldom change, so that these names are not on the
 * first screen of a page, where a computer without a Chinese font shows boxes.
 */
export function displayName(random: Random, { namePrefix }: Pick<ResourceKind, 'namePrefix'>): string {
  const number = String(between(random, 1, 99)).padStart(2, '0');
  const isChinese = namePrefix === 'bkt' && random() < 0.3;
  const [team, role] = isChinese ? [CHINESE_TEAMS, CHINESE_ROLES] : [teams, roles];
  return `${pick(random, team)}${pick(random, ['-', '.', ':', ' '])}${pick(random, role)}${pick(random, ['-', ':', '.v'])}${number}`;
}

const teams: readonly string[] = [
  'web',
  'search',
  'vision',
  'speech',
  'llm.pretrain',
  'infra:core',
  'payments',
  'checkout',
  'data-platform',
  'recommendation',
];

const roles: readonly string[] = [
  'frontend',
  'worker',
  'cache',
  'etl',
  'eval',
  'gateway',
  'node',
  'dataset',
  'backup',
  'notebook',
];

const CHINESE_TEAMS: readonly string[] = ['训练平台', '推理服务', '数据中台', '自动驾驶.感知'];

const CHINESE_ROLES: readonly string[] = ['节点', '数据集', '华东.备份', '开发机'];
