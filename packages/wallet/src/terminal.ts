import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text as readAll } from 'node:stream/consumers'
import { UserError } from './errors.ts'
import { plain, plainJson } from './plain.ts'

export type Streams = {
  stdin: NodeJS.ReadStream
  stdout: NodeJS.WritableStream
  stderr: NodeJS.WriteStream
}

export type Terminal = ReturnType<typeof createTerminal>

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MS = 80

/** Results go to stdout, everything else to stderr. With `json`, one object on stdout is the only output. */
export function createTerminal({ stdin, stdout, stderr }: Streams, { json }: { json: boolean }) {
  const isInteractive = Boolean(stdin.isTTY && stderr.isTTY) && !json
  const spinner = stderr.isTTY && !json ? createSpinner(stderr) : undefined
  let last = ''

  return {
    json,
    isInteractive,

    /** Prints the result: the lines for people, or the value for programs. */
    result(lines: readonly string[], value: unknown): void {
      spinner?.stop()
      stdout.write(json ? `${plainJson(value)}\n` : lines.map((line) => `${plain(line)}\n`).join(''))
    },

    /** Writes what somebody else sent: as it is into a file or pipe, without control characters on a terminal. */
    foreign(bytes: Uint8Array): void {
      spinner?.stop()
      const isShown = 'isTTY' in stdout && stdout.isTTY === true
      const lines = () => new TextDecoder().decode(bytes).split('\n').map(plain).join('\n')
      stdout.write(isShown ? `${lines()}\n` : bytes)
    },

    failure(lines: readonly string[], value: unknown): void {
      spinner?.stop()
      if (json) stdout.write(`${plainJson(value)}\n`)
      else stderr.write(lines.map((line) => `${plain(line)}\n`).join(''))
    },

    /** Prints a permanent line. */
    note(line: string): void {
      if (json) return
      spinner?.clear()
      stderr.write(`${plain(line)}\n`)
    },

    /** Shows the current step. On a terminal the next step replaces it. */
    progress(doing: string): void {
      if (json) return
      if (spinner) spinner.show(plain(doing))
      else if (doing !== last) stderr.write(`${plain(doing)}\n`)
      last = doing
    },

    stop: () => spinner?.stop(),

    ...createPrompts({ stdin, stderr, isInteractive, stop: () => spinner?.stop() }),
  }
}

type Asking = Pick<Streams, 'stdin' | 'stderr'> & { isInteractive: boolean; stop(): void }

function createPrompts({ stdin, stderr, isInteractive, stop }: Asking) {
  async function question(
    prompt: string,
    output: NodeJS.WritableStream,
    signal: AbortSignal,
  ): Promise<string> {
    stop()
    const lines = createInterface({ input: stdin, output, terminal: true })
    // readline consumes Ctrl-C while it reads keys, so pass it on.
    lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
    try {
      return await lines.question(prompt, { signal })
    } catch (error) {
      stderr.write('\n')
      signal.throwIfAborted()
      throw error
    } finally {
      lines.close()
    }
  }

  return {
    /** Only on an interactive terminal; any answer but yes is no. */
    async confirm(prompt: string, signal: AbortSignal): Promise<boolean> {
      return /^y(es)?$/i.test((await question(`${plain(prompt)} [y/N] `, stderr, signal)).trim())
    },

    /** Prompts without echo, or reads from a pipe. */
    async secret(prompt: string, signal: AbortSignal): Promise<string> {
      if (!stdin.isTTY) return (await readAll(stdin)).trim()
      if (!isInteractive) throw new UserError('USAGE', 'There is no terminal to ask at: pipe the value in.')
      stop()
      stderr.write(plain(prompt))
      const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
      const answer = await question('', nowhere, signal)
      stderr.write('\n')
      return answer
    },
  }
}

function createSpinner(stderr: NodeJS.WriteStream) {
  let timer: NodeJS.Timeout | undefined
  let text = ''
  let frame = 0

  function clear(): void {
    if (timer) stderr.write('\r\u001b[K')
  }
  function draw(): void {
    frame += 1
    const room = Math.max(10, (stderr.columns || 80) - 3)
    stderr.write(`\r\u001b[K${FRAMES[frame % FRAMES.length]} ${text.slice(0, room)}`)
  }
  return {
    clear,
    show(doing: string): void {
      text = doing
      timer ??= setInterval(draw, FRAME_MS)
      draw()
    },
    stop(): void {
      clear()
      clearInterval(timer)
      timer = undefined
    },
  }
}
