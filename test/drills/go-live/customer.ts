import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Address } from 'viem'
import { projectRoot } from '../../../packages/devnet/src/node-child.ts'
import { PASSPHRASE } from '../../cli.ts'

/** A user of the service with wallets and nodes of its own, who needs an API key only. */
export type Customer = { address: Address; solana: string; env: Record<string, string> }

export const CHAIN_IDS: Record<string, number> = { base: 8453, arbitrum: 42161, solana: 792703809 }

type Options = { root: string; url: string; chains: readonly { name: string; rpcUrl: string }[] }

export async function createCustomer({ root, url, chains }: Options): Promise<Customer> {
  const env = { GEOSWAP_CLI_HOME: join(root, 'customer'), GEOSWAP_PASSPHRASE: PASSPHRASE }
  const { address } = run(env, 'wallet', 'create', 'first')
  const { address: solana } = run(env, 'wallet', 'create', 'sol', '--family', 'solana')
  run(env, 'config', 'set', 'url', url)
  for (const { name, rpcUrl } of chains) run(env, 'config', 'set', `rpc.${CHAIN_IDS[name]}`, rpcUrl)
  return { address, solana, env }
}

function run(env: Record<string, string>, ...args: string[]) {
  const { PATH = '', HOME = '' } = process.env
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['packages/cli/bin/geoswap.mjs', ...args, '--json'],
    { cwd: projectRoot, env: { PATH, HOME, ...env }, encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`geoswap ${args.join(' ')}: ${stdout}${stderr}`)
  return JSON.parse(stdout)
}
