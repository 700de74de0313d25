/** The growth of the most memory this process had while `act` ran. */
export async function growthDuring<T>(act: () => Promise<T>): Promise<{ value: T; growth: number }> {
  const before = process.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 20);
  try {
    return { value: await act(), growth: most - before };
  } finally {
    clearInterval(timer);
  }
}
