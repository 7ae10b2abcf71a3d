// Exits with 0 if the exporter in the same container is healthy. HEALTHCHECK_URL overrides port and scheme.
const url = process.env.HEALTHCHECK_URL ?? 'http://127.0.0.1:9842/-/healthy';
const response = await fetch(url, { signal: AbortSignal.timeout(4000) });
if (!response.ok) throw new Error(`${url}: expected status 200, got ${response.status}`);
