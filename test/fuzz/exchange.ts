import { connect } from 'node:net'
import type { WireRequest } from './requests.ts'

/** The reply; without a status if the service closed the connection without one. */
export type Exchange = { status?: number; head: string; body: string; isLate: boolean }

// A payment is held for 20 seconds.
const LATE_MS = 30_000

/** Sends exactly these bytes on their own connection, and reads until the service closes it. */
export function exchange(apiUrl: string, request: WireRequest): Promise<Exchange> {
  const { hostname, port } = new URL(apiUrl)
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) })
    const parts: Buffer[] = []
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      socket.destroy()
    }, LATE_MS)
    socket.on('data', (part) => {
      parts.push(part)
      // A stream of events lasts as long as its swap.
      if (Buffer.concat(parts).includes('text/event-stream')) socket.destroy()
    })
    // A reset also closes the connection.
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      resolve({ ...read(Buffer.concat(parts).toString()), isLate })
    })
    socket.write(toBytes(request, `${hostname}:${port}`))
  })
}

function toBytes({ method, target, headers, body }: WireRequest, host: string): Buffer {
  const hasBody = body.length > 0 || method === 'POST'
  const lines = [
    `${method} ${target} HTTP/1.1`,
    `host: ${host}`,
    'connection: close',
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(hasBody ? [`content-length: ${body.length}`] : []),
  ]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body])
}

function read(text: string): Omit<Exchange, 'isLate'> {
  const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]
  const [head = '', ...rest] = text.split('\r\n\r\n')
  // Surplus bytes may have been answered as another request.
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? Number.POSITIVE_INFINITY)
  const body = Buffer.from(rest.join('\r\n\r\n')).subarray(0, length).toString()
  return { ...(status && { status: Number(status) }), head, body }
}
