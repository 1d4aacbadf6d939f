import { chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'
import { CHROMIUM_FLAGS, findChromium } from '../../scripts/chromium.ts'
import { startShared } from '../e2e/network.ts'
import { startCollector } from './collector.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Takes spans by POST, and answers GET with all of them. */
    collectorUrl: string
    /** The WebSocket URL of the browser that all tests of the page share; empty without one. */
    browserUrl: string
  }
}

/** The network of the end-to-end tests, with its page; its processes send their spans to a collector. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [collector, browser] = await Promise.all([startCollector(), startBrowser(project)])
  project.provide('browserUrl', browser?.wsEndpoint() ?? '')
  project.provide('collectorUrl', collector.url)
  const stop = await startShared(project, {
    web: true,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  })
  return async () => {
    await stop().finally(() => Promise.all([collector.stop(), browser?.close()]))
  }
}

/** Undefined without Chromium, and for tests that need no page. */
async function startBrowser({ name }: TestProject) {
  const executablePath = name === 'browser' ? findChromium() : undefined
  return executablePath ? chromium.launchServer({ executablePath, args: CHROMIUM_FLAGS }) : undefined
}
