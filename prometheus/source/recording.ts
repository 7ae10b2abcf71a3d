/** Names of the recorded series. */
export const RECORDED = {
  resources: 'cluster_job_station:telemetry_station_resources:sum',
  resourcesByType: 'cluster_job_station_resource_type:telemetry_station_resources:sum',
  resourcesByAlertState: 'cluster_job_station_alert_state:telemetry_station_resources:sum',
  coverage: 'cluster_job_station:telemetry_station_alert_coverage:ratio',
  coverageByType: 'cluster_job_station_resource_type:telemetry_station_alert_coverage:ratio',
  age: 'cluster_job_station:telemetry_station_data_age:seconds',
  capacity: 'cluster_job_station_gpu_model_unit:telemetry_station_sku_quantity:sum',
  comparable: 'cluster_job_station_rejected_records:telemetry_station_listing:comparable',
  comparableResources: 'cluster_job_station:telemetry_station_resources:last_comparable',
  comparableResourcesByOwner: 'cluster_job_station_owner:telemetry_station_resources:last_comparable',
  comparableCapacity: 'cluster_job_station_gpu_model_unit:telemetry_station_sku_quantity:last_comparable',
  comparableCapacityByOwner: 'cluster_job_station_owner_gpu_model_unit:telemetry_station_sku_quantity:last_comparable',
  comparableWithoutRules:
    'cluster_job_station_resource_type:telemetry_station_resources_without_alert_rules:last_comparable',
  comparableWithoutRulesByOwner:
    'cluster_job_station_resource_type_owner:telemetry_station_resources_without_alert_rules:last_comparable',
  oldestWithoutRules:
    'cluster_job_station_owner:telemetry_station_resource_created_timestamp_seconds:oldest_without_alert_rules',
  // Of the optional rules.
  notMonitored: 'cluster_job_station_resource_type_owner:telemetry_station_resource_info:count_not_monitored',
  expected: 'cluster_station_gpu_model_unit:telemetry_station_sku_quantity:expected',
  price: 'gpu_model_unit:telemetry_station_sku_quantity:price_per_hour',
  cost: 'cluster_job_station_owner:telemetry_station_sku_quantity:cost_per_hour',
} as const;
