import type { ChildProcess } from 'node:child_process'

// Every user of the machine can read a command line, so children receive keys over the channel to their
// parent, as their first message.

export function sendOptions(child: ChildProcess, options: object): ChildProcess {
  child.send({ options }, () => {
    // A child that ends before it reads them is noticed by its exit.
  })
  return child
}

/** The options from the parent. Both are of one version, so the shape is trusted. */
export function receiveOptions<T extends object>(): Promise<T> {
  return new Promise((resolve) => {
    process.once('message', (message: { options: T }) => {
      process.channel?.unref()
      resolve(message.options)
    })
    process.channel?.ref()
  })
}
