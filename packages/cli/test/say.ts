import { PassThrough } from 'node:stream'
import { run } from '../src/run.ts'

/** Runs a command line with an empty home. `press` is Ctrl-C. */
export function start(line: readonly string[], { home = '/nowhere', networkHome = '/nowhere' } = {}) {
  const out = { stdout: '', stderr: '' }
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  for (const name of ['stdout', 'stderr'] as const) {
    streams[name].on('data', (text) => {
      out[name] += text
    })
  }
  const listeners: (() => void)[] = []
  const world = { home, workingFolder: '/', networkHome, mcp: {} }
  const ended = run(line, {
    ...world,
    given: { apiKey: 'gsk_test' },
    ...{ streams: streams as never, passphrase: undefined, gasKey: undefined },
    onSignal: (listener) => void listeners.push(listener),
  })
  return {
    press: () => listeners.forEach((listener) => void listener()),
    ended: ended.then((code) => ({ code, ...out })),
  }
}
