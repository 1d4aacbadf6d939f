import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest'

export const PHONE = { width: 390, height: 844 }
const DESK = { width: 1440, height: 900 }
/** All sizes and themes that every screen is checked in. */
export const LOOKS = [
  { size: DESK, theme: 'light' },
  { size: DESK, theme: 'dark' },
  { size: PHONE, theme: 'light' },
  { size: { width: 320, height: 640 }, theme: 'dark' },
] as const
/** For a page whose colours do not depend on its width. */
export const EXTREME_LOOKS = [LOOKS[0], LOOKS[3]]

type Look = { size?: typeof DESK; theme?: 'light' | 'dark'; locale?: string }

/** A browser for the tests of a file. A logged error or a policy violation fails the test. */
export function useBrowser() {
  const { apiUrl } = inject('local')
  let browser: Browser
  let contexts: BrowserContext[] = []
  let problems: string[] = []
  const expected: RegExp[] = []

  beforeAll(async () => {
    const url = inject('browserUrl')
    if (url === '') throw new Error('There is no Chromium: CHROMIUM=/path/to/chromium npm run test:browser')
    browser = await chromium.connect(url)
  })
  afterEach(async () => {
    await Promise.all(contexts.map((context) => context.close()))
    const found = problems.filter((text) => !expected.some((pattern) => pattern.test(text)))
    contexts = []
    problems = []
    expected.length = 0
    expect(found).toEqual([])
  })
  afterAll(() => browser?.close())

  /** A browser without any stored state. */
  async function visit({ size = DESK, theme = 'light', locale = 'en-US' }: Look = {}): Promise<Page> {
    // Without a graphics processor, animations take a fifth of the time of Chromium.
    const look = { viewport: size, colorScheme: theme, locale, reducedMotion: 'reduce' } as const
    const context = await browser.newContext({ ...look, baseURL: apiUrl })
    contexts.push(context)
    const page = await context.newPage()
    page.setDefaultTimeout(20_000)
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text())
    })
    return page
  }

  return {
    visit,
    /** Errors that this test expects. */
    expectErrors: (...patterns: RegExp[]) => expected.push(...patterns),
  }
}
