/** Loaded with `node --import`: begins at `CLOCK_MS`, and each message of the parent process sets the time of this process. */
const realNow = Date.now;
const realElapsed = performance.now.bind(performance);
const offsetAt = (ms: number) => ms - realNow();

const firstOffsetMs = offsetAt(Number(process.env['CLOCK_MS']));
let offsetMs = firstOffsetMs;

Date.now = () => realNow() + offsetMs;
performance.now = () => realElapsed() + offsetMs - firstOffsetMs;

process.on('message', (ms: number) => {
  offsetMs = offsetAt(ms);
  process.send?.(ms);
});
process.on('disconnect', () => process.exit());
