import type { TestProject } from 'vitest/node'
import { startShared } from '../e2e/network.ts'
import { startCollector } from './collector.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Returns all received spans. */
    collectorUrl: string
  }
}

/** The network of the end-to-end tests, whose processes send their spans to a collector. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const collector = await startCollector()
  project.provide('collectorUrl', collector.url)
  const stop = await startShared(project, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  return async () => {
    await stop()
    await collector.stop()
  }
}
