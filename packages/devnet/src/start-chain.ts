import { listeningPort, nextMessage, spawnNode } from './node-child.ts'
import { buildPrograms, programFile } from './programs.ts'
import { DIRECT_PATH } from './shape/control-methods.ts'
import type { EvmShapeName } from './shape/evm-shape.ts'
import { type Supervised, supervise } from './supervise.ts'

type ProcessOptions = {
  name: string
  /** Another one is used if it is taken; defaults to any free port. */
  port?: number
  logFile?: string
  env?: Readonly<Record<string, string>>
  /** A chain is in memory: its state ends with its process. */
  onDown?(reason: string): void
}
export type ChainOptions = ProcessOptions & {
  chainId: number
  blockMs?: number
  /** The public chain that it imitates. */
  shape?: EvmShapeName | undefined
}
export type SolanaProcessOptions = ProcessOptions & { slotMs?: number; shape?: 'solana' | undefined }
/** All URLs are the same, unless the chain behaves like a public one. */
export type ChainUrls = {
  rpcUrl: string
  attesterUrl: string
  /** The node itself: without meter, limit and lag, and with every control. */
  nodeUrl: string
}
export type RunningChain = Supervised & ChainUrls
export type RunningSolanaChain = RunningChain & { wsUrl: string }

/** Starts one EVM chain in its own process. It is not restarted, since its state would be lost. */
export async function startChain(options: ChainOptions): Promise<RunningChain> {
  const { name, chainId, port = 0, blockMs = 1_000 } = options
  const pace = ['--port', String(port), '--block-ms', String(blockMs)]
  const args = [name, '--chain-id', String(chainId), ...pace, ...shapeArgs(options)]
  return startProcess(options, { file: programFile('evm-chain'), args })
}

/** Starts one Solana chain in its own process. It is not restarted either. */
export async function startSolanaProcess(options: SolanaProcessOptions): Promise<RunningSolanaChain> {
  const { port = 0, slotMs = 400 } = options
  const args = ['--port', String(port), '--slot-ms', String(slotMs), ...shapeArgs(options)]
  const chain = await startProcess(options, { file: programFile('solana-chain'), args })
  return { ...chain, wsUrl: chain.rpcUrl.replace('http', 'ws') }
}

function shapeArgs({ shape }: { shape?: string | undefined }): string[] {
  return shape === undefined ? [] : ['--shape', shape]
}

function urlsOf(base: string, { shape }: { shape?: string | undefined }): ChainUrls {
  if (shape === undefined) return { rpcUrl: base, attesterUrl: base, nodeUrl: base }
  // Identifies clients to the meter that do not name themselves.
  return { rpcUrl: base, attesterUrl: `${base}/?client=attester`, nodeUrl: `${base}${DIRECT_PATH}` }
}

async function startProcess(
  options: ProcessOptions & { shape?: string | undefined },
  command: { file: string; args: string[] },
): Promise<RunningChain> {
  let port = 0
  const { name, env = {}, logFile = '/dev/null' } = options
  await buildPrograms()
  const chain = await supervise({
    name,
    logFile,
    launch: () => spawnNode({ ...command, env, logFile }),
    async waitUntilReady(child) {
      port = await nextMessage(child, listeningPort)
    },
    onDown: (reason) => options.onDown?.(reason),
    restart: false,
    stopGraceMs: 1_000,
  })
  return { ...chain, ...urlsOf(`http://127.0.0.1:${port}`, options) }
}
