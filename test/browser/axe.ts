import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Found = { violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }

declare global {
  interface Window {
    axe: { run(): Promise<Found> }
  }
}

/** Lists what axe finds, and whether something is wider than the screen. */
export async function findFlaws(page: Page): Promise<string[]> {
  const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  return [...(await findViolations(page)), ...(excess > 0 ? [`${excess} px too wide`] : [])]
}

/**
 * Runs all rules of axe, injected by the debugger: the page's policy allows no foreign script.
 * Colours in the middle of a transition are nobody's choice, so it ends all transitions first.
 */
async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(() => {
    for (const animation of document.getAnimations()) {
      if (animation instanceof CSSTransition) animation.finish()
    }
  })
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    const { violations } = await window.axe.run()
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    )
  })
}
