/** How many iterations the event loop makes until the work ends. */
export async function iterationsDuring(work: () => Promise<unknown>): Promise<number> {
  let iterations = 0;
  const count = () => {
    iterations += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  await work();
  clearImmediate(counting);
  return iterations;
}
