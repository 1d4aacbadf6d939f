import type { Lease } from '../store/lanes.ts'

/** Work that one process at a time may do: sending a key's transactions, watching a chain. */
export type Lane = {
  name: string
  tasks: readonly Task[]
  /** False leaves the lane to other processes. Default: true. */
  isOpen?(): boolean
}

/** One kind of work of a lane. Its steps never overlap, but run beside the lane's other tasks. */
export type Task = {
  /** Topics that wake the task. */
  topics: readonly string[]
  /** It also runs this often, in case a wake-up is lost. Default: a second. */
  idleMs?: number
  step(lease: Lease, wakeLane: (topic: string) => void): Promise<void>
}
