import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/** What keeps people from using the page, by rule and place. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  return violations.flatMap(({ id, impact, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${impact} ${id} at ${target.join(' ')}: ${help}. ${failureSummary}`),
  );
}
