import type { IncomingMessage, ServerResponse } from 'node:http'

type Call = { raw: IncomingMessage }
type Reply = { raw: ServerResponse }

/** Calls back when the caller hangs up, or has hung up already. May also call back after the reply has ended. */
export function onceGone({ raw }: Call, reply: Reply, leave: () => void): void {
  const { socket } = raw
  if (reply.raw.destroyed || socket.destroyed) {
    leave()
    return
  }
  reply.raw.once('close', leave)
  // A reply queued behind others on its connection has no socket yet, and would not emit its close.
  if (!reply.raw.socket) socket.setMaxListeners(0).once('close', leave)
}
