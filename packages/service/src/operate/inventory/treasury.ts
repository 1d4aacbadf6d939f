import { familyOf } from '../../chains/families.ts'
import { type Env, UsageError } from '../../command.ts'
import type { Signers } from '../../compose/chains.ts'
import { readKeys, readSetting } from '../../config/secrets.ts'
import { type ChainConfig, type NetworkConfig, Secret } from '../../config.ts'
import type { Move } from '../../store/inventory.ts'
import { operateOf } from '../families.ts'
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
  const keys = readOwnKeys(env, asked, { opensKeystore: needsKey || owner === undefined })
  const [first, ...others] = await Promise.all(keys.map((key) => toTreasury(key, asked.chain)))
  if (!first && owner && !needsKey) return { sender: owner, signers: {} }
  if (!first) {
    const whose = owner ?? 'the wallet that pays the deposit'
    throw new UsageError(
      `GEOSWAP_TREASURY_KEY is not set, and GEOSWAP_KEYSTORE has no such key: provide that of ${whose}.`,
    )
  }
  // While a vault is replaced, the keystore has the keys of both.
  const treasury = others.find(({ sender }) => sender === owner) ?? first
  if (asked.kind === 'withdraw' && treasury.sender !== owner) {
    throw new UsageError(
      `The key belongs to ${treasury.sender}, but only ${owner} can do this on ${asked.chain.name}.`,
    )
  }
  return treasury
}

function ownerOf({ network, chain, kind }: Asked): string | undefined {
  return operateOf(chain).owner.addressOf(network, chain, kind)
}

function readOwnKeys(env: Env, asked: Asked, { opensKeystore }: { opensKeystore: boolean }): Secret[] {
  const { role, local } = operateOf(asked.chain).owner
  const problems: string[] = []
  const isGiven = readSetting(env, 'GEOSWAP_TREASURY_KEY', problems) !== undefined
  if (!isGiven && asked.isLocal) {
    const secret = ownerOf(asked) === undefined ? undefined : readLocalSecret(env, local)
    return secret === undefined ? [] : [new Secret(secret)]
  }
  if (!isGiven && !(opensKeystore && env['GEOSWAP_KEYSTORE'])) return []
  const keys = readKeys(env, 'GEOSWAP_TREASURY_KEY', [role], problems)
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return keys
}

async function toTreasury(key: Secret, chain: ChainConfig): Promise<Treasury> {
  const { name, keys } = familyOf(chain)
  const signer = await keys.open(key.reveal())
  return { sender: signer.address, signers: { [name]: [signer] } }
}
