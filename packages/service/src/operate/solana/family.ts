import { formatUnits } from 'viem'
import { readMint } from '../../chains/solana/accounts.ts'
import { createSolanaClient } from '../../chains/solana/client.ts'
import { payByNonce, readNonceRent } from '../../chains/solana/nonce-payments.ts'
import type { SolanaKey } from '../../chains/solana/settings.ts'
import { describeError } from '../../command.ts'
import { TO_FILL_IN } from '../../config/network-file.ts'
import type { NetworkConfig, SolanaChainConfig } from '../../config.ts'
import { missingOf } from '../../swap/gas-funding.ts'
import { addressesOf, type Holder, type KeyGas, type Operate, type Roles } from '../family.ts'
import { assertCluster, deployProgram, openSolanaDeployer, payer } from './deploy.ts'

export const solana: Operate<SolanaChainConfig> = {
  payer: {
    ...payer,
    async open(env, network) {
      const signer = await openSolanaDeployer(env, network)
      return {
        address: signer.address,
        readReserve: (chain) => readReserve(chain, signer.address),
        pay: (config, keys, say) => pay(signer, { config, keys, say }),
      }
    },
  },
  async deploy(chains, deploying) {
    let isRight = true
    for (const chain of chains) isRight = (await deployProgram(chain, deploying)) && isRight
    return isRight
  },
  owner: {
    role: 'inventory',
    local: 'solanaInventoryKey',
    // The owner is also the vault: deposits come from other wallets.
    addressOf: (_network, { vault }, kind) => (kind === 'withdraw' ? vault : undefined),
  },
  candidates: {
    readToken: async (_network, { rpcUrls }, { address }) => {
      const mint = await readMint(createSolanaClient({ urls: rpcUrls }), address)
      if (!mint) return undefined
      const fault = mint.refusal === undefined ? undefined : `has the extension ${mint.refusal}`
      return { symbol: undefined, decimals: mint.decimals, fault }
    },
    idOf: ({ genesisHash }) => genesisHash,
    readIds: (urls) => createSolanaClient({ urls }).nodes.map((node) => node.getGenesisHash().send()),
  },
  readVersions: (urls) =>
    createSolanaClient({ urls }).nodes.map(
      async (node) => `Solana ${(await node.getVersion().send())['solana-core']}`,
    ),
  starter: {
    custody: custodyOf,
    // The service keeps the cap of the vault, and the program has none for claims and refunds.
    caps: ({ capPerHour }) => ({ capPerHour }),
  },
  keys: {
    listHolders,
    worker: [
      ['inventory', 1],
      ['fee-input', 1],
      ['fee-delivery', 1],
    ],
    attester: { role: 'solana-attester', isOne: true },
    operator: ['solana-program'],
  },
}

function listHolders(
  { gasFloat }: NetworkConfig,
  chains: readonly SolanaChainConfig[],
): Holder<SolanaChainConfig>[] {
  const floats = gasFloat?.solana ? [{ role: 'fee-float', address: gasFloat.solana, on: chains }] : []
  return [
    ...chains.flatMap((chain) => [
      { role: 'inventory', address: chain.vault, on: [chain] },
      { role: 'fee-input', address: chain.feePayers.input, on: [chain] },
      { role: 'fee-delivery', address: chain.feePayers.delivery, on: [chain] },
      { role: 'solana-attester', address: chain.attester, on: [] },
    ]),
    ...floats,
  ]
}

function custodyOf(roles: Roles): object {
  const orFill = (role: Parameters<typeof addressesOf>[1]) => addressesOf(roles, role)[0] ?? TO_FILL_IN
  return {
    program: orFill('solana-program'),
    vault: orFill('inventory'),
    attester: orFill('solana-attester'),
    feePayers: { input: orFill('fee-input'), delivery: orFill('fee-delivery') },
  }
}

const SOL_DECIMALS = 9
// Of the two transactions of a run, at the highest price.
const FEE_LAMPORTS = 500_000n

/** Pays what the keys lack, in one transaction. */
async function pay(
  from: SolanaKey,
  { config, keys, say }: { config: SolanaChainConfig; keys: readonly KeyGas[]; say(text: string): void },
): Promise<number> {
  const client = createSolanaClient({ urls: config.rpcUrls })
  await assertCluster(client, config)
  let due: { role: string; to: string; lamports: bigint }[] = []
  const txHash = await payByNonce(client, from, {
    addresses: keys.map(({ address }) => address),
    plan(balances) {
      due = keys.flatMap(({ role, address, needs }, index) => {
        const lamports = missingOf({ balance: balances[index] ?? 0n, needs })
        return lamports > 0n ? [{ role, to: address, lamports }] : []
      })
      return due
    },
  }).catch((error: unknown) => {
    throw new Error(`${config.name}: ${describeError(error)}. Run it again.`, { cause: error })
  })
  if (txHash === undefined) return 0
  for (const { role, to, lamports } of due)
    say(`${config.name}: ${formatUnits(lamports, SOL_DECIMALS)} SOL to the ${role} ${to}, ${txHash}`)
  return due.length
}

/** Needed by the payer beside the payments: fees, the nonce account, and the least that keeps its own account. */
async function readReserve({ rpcUrls }: SolanaChainConfig, payer: string): Promise<bigint> {
  const client = createSolanaClient({ urls: rpcUrls })
  const [own, nonce] = await Promise.all([
    client.rpc.getMinimumBalanceForRentExemption(0n).send(),
    readNonceRent(client, payer),
  ])
  return own + nonce + FEE_LAMPORTS
}
