import { getAddress } from 'viem'
import { familyOf } from '../../chains/families.ts'
import { type Env, UsageError } from '../../command.ts'
import type { Signers } from '../../compose/chains.ts'
import { readKeys, readSetting } from '../../config/secrets.ts'
import { type ChainConfig, type NetworkConfig, Secret } from '../../config.ts'
import type { Move } from '../../store/inventory.ts'
import { readLocalSecret } from './session.ts'

/** The sender of a move, and its key if available. */
type Treasury = {
  sender: string
  signers: Signers
}

type Asked = { network: NetworkConfig; chain: ChainConfig; kind: Move['kind']; isLocal: boolean }

/** A preview needs no key, unless only the key determines the sender. */
export async function findTreasury(
  env: Env,
  asked: Asked,
  { needsKey }: { needsKey: boolean },
): Promise<Treasury> {
  const owner = ownerOf(asked)
  const key = readKey(env, asked, { opensKeystore: needsKey || owner === undefined })
  if (!key && owner && !needsKey) return { sender: owner, signers: {} }
  if (!key) {
    const whose = owner ?? 'the wallet that pays the deposit'
    throw new UsageError(
      `GEOSWAP_TREASURY_KEY is not set, and GEOSWAP_KEYSTORE has no such key: provide that of ${whose}.`,
    )
  }
  const treasury = await toTreasury(key, asked.chain)
  if (asked.kind === 'withdraw' && treasury.sender !== owner) {
    throw new UsageError(
      `The key belongs to ${treasury.sender}, but only ${owner} can do this on ${asked.chain.name}.`,
    )
  }
  return treasury
}

/** The owner of the inventory. On Solana the owner is also the vault: deposits come from other wallets. */
function ownerOf({ network, chain, kind }: Asked): string | undefined {
  if (chain.family === 'solana') return kind === 'withdraw' ? chain.vault : undefined
  return network.treasury === undefined ? undefined : getAddress(network.treasury)
}

function readKey(
  env: Env,
  { chain, kind, isLocal }: Asked,
  { opensKeystore }: { opensKeystore: boolean },
): Secret | undefined {
  const problems: string[] = []
  const isGiven = readSetting(env, 'GEOSWAP_TREASURY_KEY', problems) !== undefined
  if (!isGiven && isLocal) {
    const local = readLocalSecret(env, chain.family === 'evm' ? 'treasuryKey' : 'solanaInventoryKey')
    return local === undefined || (chain.family === 'solana' && kind === 'deposit')
      ? undefined
      : new Secret(local)
  }
  if (!isGiven && !(opensKeystore && env['GEOSWAP_KEYSTORE'])) return undefined
  const role = chain.family === 'evm' ? 'treasury' : 'inventory'
  const [key] = readKeys(env, 'GEOSWAP_TREASURY_KEY', [role], problems)
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return key
}

async function toTreasury(key: Secret, chain: ChainConfig): Promise<Treasury> {
  const { name, keys } = familyOf(chain)
  const signer = await keys.open(key.reveal())
  return { sender: signer.address, signers: { [name]: [signer] } }
}
