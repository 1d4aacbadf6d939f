import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

// Runs work that would disturb a measurement in its own process, and calls it like a set of functions.

type Functions = Record<string, (input: never) => unknown>
type Request = { id: number; name: string; input: unknown }
type Reply = { id: number; output?: unknown; error?: string }

export type Remote<F extends Functions> = {
  pid: number
  call<Name extends keyof F & string>(
    name: Name,
    ...input: Parameters<F[Name]>
  ): Promise<Awaited<ReturnType<F[Name]>>>
  stop(): void
}

/** In the child: answers the parent's calls with these functions, and ends with the parent. */
export function answerCalls(functions: Functions): void {
  process.on('message', async ({ id, name, input }: Request) => {
    const reply = await Promise.resolve()
      .then(() => functions[name]?.(input as never))
      .then(
        (output): Reply => ({ id, output }),
        (error: unknown): Reply => ({ id, error: String(error) }),
      )
    process.send?.(reply)
  })
  process.once('disconnect', () => process.exit(0))
}

/** In the parent: starts the file beside this one. */
export function startRemote<F extends Functions>(file: string): Remote<F> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    execArgv: ['--import', 'tsx'],
    detached: true,
  })
  const waiting = new Map<number, { resolve(output: never): void; reject(error: Error): void }>()
  let count = 0
  child.on('message', ({ id, output, error }: Reply) => {
    const caller = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) caller?.resolve(output as never)
    else caller?.reject(new Error(`${file}: ${error}`))
  })
  child.on('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error(`${file} ended`))
  })
  return {
    pid: child.pid ?? 0,
    call(name, ...[input]) {
      const id = count++
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject })
        child.send({ id, name, input } satisfies Request)
      })
    },
    stop: () => child.disconnect(),
  }
}
