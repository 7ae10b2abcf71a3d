const CPU_MS = 500;

/** How many times as long as alone a process takes on this machine now, at least 1: the time limits of the soak runs are multiplied by it. */
export function measureSlowness(): number {
  const [startMs, start] = [performance.now(), process.cpuUsage()];
  const usedMs = () => {
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  };
  while (usedMs() < CPU_MS);
  return Math.max(1, (performance.now() - startMs) / usedMs());
}
