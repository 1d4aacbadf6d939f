import { planDeployment } from '@geoswap/protocol'
import { type Address, formatUnits, getAddress, type PrivateKeyAccount } from 'viem'
import { orUndefined } from '../../chains/evm/attempt.ts'
import { createEvmClients } from '../../chains/evm/client.ts'
import { toContracts } from '../../chains/evm/connect.ts'
import { findConductFault } from '../../chains/evm/tokens.ts'
import { readDecimals, readSymbol } from '../../chains/evm/verify.ts'
import { describeError } from '../../command.ts'
import { COMMAND_PATIENCE_MS } from '../../compose/chains.ts'
import { TO_FILL_IN } from '../../config/network-file.ts'
import type { EvmChainConfig, NetworkConfig } from '../../config.ts'
import { attesterAddresses } from '../../swap/attester-set.ts'
import { missingOf } from '../../swap/gas-funding.ts'
import {
  addressesOf,
  type Holder,
  type KeyGas,
  type Listing,
  type Operate,
  type Roles,
  thresholdOf,
} from '../family.ts'
import { deployContracts } from './deploy.ts'
import { openDeployer, openWallet, payer } from './wallet.ts'

export const evm: Operate<EvmChainConfig> = {
  payer: {
    ...payer,
    async open(env, network) {
      const account = await openDeployer(env, network)
      return {
        address: account.address,
        readReserve: async () => 0n,
        pay: (config, keys, say) => pay(account, { config, keys, say }),
      }
    },
  },
  deploy: deployContracts,
  owner: {
    role: 'treasury',
    local: 'treasuryKey',
    addressOf: ({ treasury }) => (treasury === undefined ? undefined : getAddress(treasury)),
  },
  candidates: {
    readToken,
    idOf: ({ chainId }) => String(chainId),
    readIds: (urls) => createEvmClients({ urls }).nodes.map(async (node) => String(await node.getChainId())),
  },
  readVersions: (urls) =>
    createEvmClients({ urls }).nodes.map((node) => node.request({ method: 'web3_clientVersion' } as never)),
  starter: {
    custody: (roles) => ({ contracts: contractsOf(roles) }),
    caps: (caps) => caps,
  },
  keys: {
    listHolders,
    worker: [
      ['relayer', 4],
      ['authorization-relayer', 2],
      ['deliverer', 2],
    ],
    attester: { role: 'attester', isOne: false },
    operator: [],
  },
}

async function readToken(
  network: NetworkConfig,
  chain: EvmChainConfig,
  asked: { address: string; holder: string | undefined },
): Promise<Listing | undefined> {
  const { client } = createEvmClients({ urls: chain.rpcUrls, patienceMs: COMMAND_PATIENCE_MS })
  const token = getAddress(asked.address)
  const holder = asked.holder ?? network.treasury
  const { vault, escrow } = toContracts(chain)
  const decimals = await orUndefined(client, () => readDecimals(client, token))
  if (decimals === undefined) return undefined
  const treasury = holder === undefined ? undefined : getAddress(holder)
  const [symbol, fault] = await Promise.all([
    orUndefined(client, () => readSymbol(client, token)),
    findConductFault(client, { token, vault, escrow, treasury, isPlain: true }),
  ])
  return { symbol, decimals, fault }
}

function listHolders(network: NetworkConfig, chains: readonly EvmChainConfig[]): Holder<EvmChainConfig>[] {
  const { relayers, authorizationRelayers, deliverers, treasury, guardian, gasFloat } = network
  return [
    ...relayers.map((address) => ({ role: 'relayer', address, on: chains })),
    ...authorizationRelayers.map((address) => ({ role: 'authorization-relayer', address, on: chains })),
    ...deliverers.map((address) => ({ role: 'deliverer', address, on: chains })),
    ...attesterAddresses(network).map((address) => ({ role: 'attester', address, on: [] })),
    ...(treasury === undefined ? [] : [{ role: 'treasury', address: treasury, on: chains }]),
    ...(guardian === undefined ? [] : [{ role: 'guardian', address: guardian, on: chains }]),
    ...(gasFloat?.evm ? [{ role: 'float', address: gasFloat.evm, on: chains }] : []),
  ]
}

/** The future addresses of the contracts, which follow from treasury and attesters. */
function contractsOf(roles: Roles): object {
  const attesters = addressesOf(roles, 'attester')
  if (!roles.treasury || attesters.length === 0)
    return { account: TO_FILL_IN, escrow: TO_FILL_IN, vault: TO_FILL_IN }
  return planDeployment({
    treasury: getAddress(roles.treasury),
    attesters: attesters.map((address) => getAddress(address)),
    threshold: thresholdOf(roles),
  }).contracts
}

/** Pays what the keys lack, one after the other. Balances are read again after the nonce of the first payment. */
async function pay(
  account: PrivateKeyAccount,
  { config, keys, say }: { config: EvmChainConfig; keys: readonly KeyGas[]; say(text: string): void },
): Promise<number> {
  const wallet = await openWallet(config, account)
  const read = await Promise.all(
    keys.map(async ({ role, address, needs }) => {
      const balance = await wallet.client.getBalance({ address: address as Address })
      return { role, address: address as Address, amount: missingOf({ balance, needs }) }
    }),
  )
  const due = read.filter(({ amount }) => amount > 0n)
  for (const { role, address, amount } of due) {
    const what = `${config.name}: ${formatUnits(amount, 18)} ${config.native.symbol} to the ${role} ${address}`
    try {
      const { txHash } = await wallet.send({ to: address, value: amount })
      say(`${what}, ${txHash}`)
    } catch (error) {
      throw new Error(`${what} failed: ${describeError(error)}. Run it again.`, { cause: error })
    }
  }
  return due.length
}
