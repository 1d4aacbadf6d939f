import { expect, vi } from 'vitest'
import { patience } from './patience.ts'

// The waits of all tests, longer on a slow machine.

const USUAL_MS = 1_000
const LEAST_MS = 10_000
const scaled = (ms = USUAL_MS) => Math.max(LEAST_MS, ms * patience)

// This file runs once for each test file, and some of them share a process.
const marked: typeof vi & { isPatient?: boolean } = vi
if (!marked.isPatient) {
  const { waitFor } = vi
  const { poll } = expect
  vi.waitFor = (callback, options) => {
    const given = typeof options === 'number' ? { timeout: options } : options
    return waitFor(callback, { ...given, timeout: scaled(given?.timeout) })
  }
  expect.poll = (ask, options) => poll(ask, { ...options, timeout: scaled(options?.timeout) })
  marked.isPatient = true
}
