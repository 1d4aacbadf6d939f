import type { ChildProcess } from 'node:child_process'

// Every user of the machine can read a command line, so children receive keys over the channel to their
// parent, as their first message.

export function giveOrders(child: ChildProcess, orders: object): ChildProcess {
  child.send({ orders }, () => {
    // The exit of the child reports that it ended before reading them.
  })
  return child
}

/** The orders from the parent. Both are of one version, so the shape is trusted. */
export function nextOrders<T extends object>(): Promise<T> {
  return new Promise((resolve) => {
    process.once('message', (message: { orders: T }) => {
      process.channel?.unref()
      resolve(message.orders)
    })
    process.channel?.ref()
  })
}
