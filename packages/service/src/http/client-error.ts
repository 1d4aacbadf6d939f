import type { Socket } from 'node:net'
import { invalidRequest } from '../errors.ts'
import { toErrorBody } from './errors.ts'

type ParseError = Error & { code?: string }

/** Answers invalid HTTP with the standard error body, written by hand because there is no request. */
export function createClientErrorAnswer(createRequestId: () => string) {
  return (error: ParseError, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return
    if (!socket.writable) return void socket.destroy()
    const requestId = createRequestId()
    const body = JSON.stringify(toErrorBody(invalidRequest(issueOf(error)), requestId))
    const head = [
      'HTTP/1.1 400 Bad Request',
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      'cache-control: no-store',
      `x-request-id: ${requestId}`,
      'connection: close',
    ]
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
  }
}

function issueOf({ code }: ParseError) {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { field: 'request', message: 'did not arrive in time' }
  if (code === 'HPE_HEADER_OVERFLOW') return { field: 'headers', message: 'must fit into 16 KiB' }
  return { field: 'request', message: 'must be valid HTTP/1.1' }
}
