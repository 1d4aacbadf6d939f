import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { stub } from '../test/support/stub.ts'
import type { Logger } from './observe/logger.ts'
import { stopOnSignal } from './stop-on-signal.ts'

const setup = (running: { servesOnMs?: number; close(): Promise<void> }) => {
  const exits: number[] = []
  const warnings: string[] = []
  const signals = new EventEmitter()
  const logger = stub<Logger>({
    warn: (text: string) => warnings.push(text),
    error: () => {},
    flush: (done: () => void) => done(),
  })
  stopOnSignal(running, logger, {
    on: (signal, listener) => signals.on(signal, listener),
    exit: (code) => exits.push(code),
  })
  return { exits, warnings, signal: (name: 'SIGTERM' | 'SIGINT') => signals.emit(name) }
}

const never = () => new Promise<void>(() => {})

describe('a signal', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('ends the process once everything is closed', async () => {
    const { exits, signal } = setup({ close: async () => {} })
    signal('SIGTERM')
    await vi.advanceTimersByTimeAsync(0)
    expect(exits).toEqual([0])
  })

  it('does not wait forever for something that cannot be closed', async () => {
    const { exits, warnings, signal } = setup({ close: never })
    signal('SIGTERM')
    await vi.advanceTimersByTimeAsync(8_900)
    expect(exits).toEqual([])
    await vi.advanceTimersByTimeAsync(200)
    expect(exits).toEqual([0])
    expect(warnings).toEqual(['not drained in time'])
  })

  it('lets a process keep serving for a while, and close afterwards', async () => {
    const servesOnMs = 15_000
    const close = () => new Promise<void>((resolve) => setTimeout(resolve, servesOnMs + 2_000))
    const { exits, warnings, signal } = setup({ servesOnMs, close })
    signal('SIGTERM')
    await vi.advanceTimersByTimeAsync(servesOnMs + 1_900)
    expect(exits).toEqual([])
    await vi.advanceTimersByTimeAsync(200)
    expect(exits).toEqual([0])
    expect(warnings).toEqual([])
  })

  it('ends the process at once if it is the second', () => {
    const { exits, signal } = setup({ close: never })
    signal('SIGTERM')
    signal('SIGINT')
    expect(exits).toEqual([1])
  })
})
