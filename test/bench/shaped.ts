import { type Network, type NetworkOptions, startNetwork } from '@geoswap/devnet'
import { type Controls, createControls } from '../shape/controls.ts'
import { createSolanaWorld, type SolanaWorld } from '../solana-world.ts'
import { createWorld, type LocalNetwork, type World } from '../world.ts'

/** A separate network whose chains behave like public ones. */
export type Shaped = {
  network: Network
  world: World
  solana: SolanaWorld
  controls: Controls
  say(line: string): void
}

type Options = { say(line: string): void } & Pick<
  NetworkOptions,
  'api' | 'workers' | 'attesters' | 'threshold' | 'nodes'
>

/** Starts the network, runs the function on it, and stops it. */
export async function onShape<T>(
  { say, ...processes }: Options,
  run: (shaped: Shaped) => Promise<T>,
): Promise<T> {
  const { PATH = '', HOME = '' } = process.env
  const network = await startNetwork({ env: { PATH, HOME }, shape: 'mainnet', ...processes, say })
  const stop = () => void network.stop().then(() => process.exit(130))
  process.once('SIGINT', stop)
  try {
    const local = network.local as LocalNetwork
    const [world, solana] = [createWorld(local), await createSolanaWorld(local)]
    return await run({ network, world, solana, controls: createControls(local), say })
  } finally {
    process.removeListener('SIGINT', stop)
    await network.stop()
  }
}
