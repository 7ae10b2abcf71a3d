// Ends with 0 when the exporter in the same container answers. HEALTHCHECK_URL tells another port or https.
const url = process.env.HEALTHCHECK_URL ?? 'http://127.0.0.1:9842/-/healthy';
const response = await fetch(url, { signal: AbortSignal.timeout(4000) });
if (!response.ok) throw new Error(`${url} answered ${response.status}`);
