import { connect, type Socket } from 'node:net'
import { now } from './clock.ts'
import { answerCalls } from './remote.ts'

// Thousands of callers in one process, each with its own connection. They write HTTP directly, since a client
// library would spend more on an answer than the server does.

export type Target = { port: number; path: string; apiKey: string }
export type Answered = { index: number; at: number; text: string }
export type HolderFunctions = {
  /** Opens one connection per target and sends a request on each. Resolves when all requests are sent. */
  ask(targets: Target[]): Promise<void>
  /** The answers so far, in order of arrival. */
  answers(): Answered[]
  /** Closes every connection and drops all answers. */
  leave(): void
}

const AT_ONCE = 250

let sockets: Socket[] = []
let answered: Answered[] = []

async function ask(targets: Target[]): Promise<void> {
  for (let first = 0; first < targets.length; first += AT_ONCE) {
    const some = targets.slice(first, first + AT_ONCE)
    await Promise.all(some.map((target, offset) => askOne(target, first + offset)))
  }
}

function askOne({ port, path, apiKey }: Target, index: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const request = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${apiKey}\r\n\r\n`
    let isFirst = true
    sockets.push(socket)
    socket.once('connect', () => socket.write(request, () => resolve()))
    socket.on('error', reject)
    socket.on('data', (data) => {
      if (isFirst) answered.push({ index, at: now(), text: data.toString() })
      isFirst = false
    })
  })
}

function leave(): void {
  for (const socket of sockets) socket.destroy()
  sockets = []
  answered = []
}

answerCalls({ ask, answers: () => answered, leave } satisfies HolderFunctions)
