import { Value } from 'typebox/value'
import { endpoints } from './endpoints.ts'

const calls = Object.values(endpoints).map(({ method, path, reply }) => ({
  method: method as string,
  reply,
  pattern: new RegExp(`${path.replace(/\{\w+\}/g, '[^/]+')}$`),
}))

/** Whether a body has the form of the reply to this call. A path may begin with that of the service. */
export function isReply({ method, path }: { method: string; path: string }, body: unknown): boolean {
  const call = calls.find((each) => each.method === method && each.pattern.test(path))
  return call !== undefined && Value.Check(call.reply, body)
}
