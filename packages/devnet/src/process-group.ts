import { type Role, type Supervised, supervise } from './supervise.ts'

/** Members with a lower stop order are stopped first: users of a resource before the resource. */
type Member = Supervised & { stopOrder: number }

/** All processes of one network. */
export type ProcessGroup = {
  add(member: Member): void
  start(role: Role): Promise<void>
  pids(): Record<string, number[]>
  kill(name: string): void
  /** Stops a role permanently. */
  dismiss(name: string): Promise<void>
  stop(): Promise<void>
}

export function createProcessGroup(): ProcessGroup {
  const members: Member[] = []
  let isStopping = false

  // A start that overlaps with the stop of the network must not leave its process behind.
  function add(member: Member): void {
    members.push(member)
    if (isStopping) void member.stop()
  }

  function pidsOf(name: string): number[] {
    return members.filter((member) => member.name === name).flatMap((member) => member.pids())
  }

  return {
    add,
    async start(role) {
      add({ ...(await supervise(role)), stopOrder: 1 })
    },
    pids: () => Object.fromEntries(members.map(({ name }) => [name, pidsOf(name)])),
    kill(name) {
      const pids = pidsOf(name)
      if (pids.length === 0) throw new Error(`No process is ${name} right now`)
      for (const pid of pids) process.kill(pid, 'SIGKILL')
    },
    async dismiss(name) {
      await Promise.all(members.filter((member) => member.name === name).map((member) => member.stop()))
    },
    async stop() {
      isStopping = true
      const orders = [...new Set(members.map(({ stopOrder }) => stopOrder))].sort((a, b) => a - b)
      for (const order of orders) {
        const group = members.filter(({ stopOrder }) => stopOrder === order)
        await Promise.all(group.map((member) => member.stop()))
      }
    },
  }
}
