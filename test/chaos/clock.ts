// Bundled with the service only for a run: shifts the clock of its process as the run requires. Code that
// measures time by it may find itself an hour earlier or later between two instructions.

let aheadMs = 0
const RealDate = Date
const now = () => RealDate.now() + aheadMs

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args) => Reflect.construct(target, args.length === 0 ? [now()] : args),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
})

process.on('message', (message: { clockMs?: number }) => {
  aheadMs = message.clockMs ?? aheadMs
})
// Listening alone must not keep the process alive.
process.channel?.unref()
