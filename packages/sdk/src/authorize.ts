import type { Authorization, DelegationReply } from '@geoswap/wire'
import { getAddress, zeroAddress } from 'viem'
import { differs, unless } from './checks/difference.ts'
import { readAddress } from './checks/read-fields.ts'
import { GeoswapError, TamperedOperationError } from './errors.ts'
import type { Builder, BuilderDeps } from './families/family.ts'
import { cannotPay } from './methods.ts'
import { orAborted, sleep } from './retry.ts'
import type { AuthorizationFields, AuthorizationSignature, EvmSigner } from './signers.ts'

type DelegatedWallet = { chainId: number; walletAddress: string }

/**
 * The fields of the authorization. It sets the wallet's code, so it names this chain and the pinned account
 * only.
 */
export function toAuthorizationFields(
  delegation: DelegationReply,
  { chainId, walletAddress }: DelegatedWallet,
  account: string,
): AuthorizationFields {
  const { accountNonce: nonce = -1 } = delegation
  const address = readAddress(delegation, 'delegationTarget')
  const differences = [
    ...differs('delegation.chainId', delegation.chainId, chainId),
    ...differs('delegation.walletAddress', getAddress(delegation.walletAddress), getAddress(walletAddress)),
    ...unless(Number.isSafeInteger(nonce) && nonce >= 0, 'accountNonce', nonce, 'a nonce'),
    ...unless(address !== zeroAddress, 'delegationTarget', address, 'a contract'),
    ...differs('delegationTarget', address, getAddress(account)),
  ]
  if (differences.length > 0) throw new TamperedOperationError(differences)
  return { chainId, address, nonce }
}

/** False if the service names nothing to authorize; the build then fails if an authorization was required. */
export function needsAuthorization({
  originReady,
  delegationTarget,
  accountNonce,
}: DelegationReply): boolean {
  return !originReady && delegationTarget !== undefined && accountNonce !== undefined
}

// Another transaction of the wallet may be pending: wait a block or two for its nonce.
const ATTEMPTS = 4
const PAUSE_MS = 1_000

/**
 * Builds quotes for one wallet, with an authorization if the wallet needs one. Each authorization is signed
 * once.
 */
export function createEvmBuilder(deps: BuilderDeps): Builder {
  const { calls, signal } = deps
  const authorize = createAuthorizer(deps, deps.signer as EvmSigner)
  return async (quote, { method, delegation }) => {
    if (method !== 'delegation') return calls.build(quote, { method, signal })
    for (let attempt = 1; ; attempt += 1) {
      const authorization = await authorize(attempt === 1 ? delegation : undefined)
      try {
        return await calls.build(quote, { authorization, signal })
      } catch (error) {
        if (!isStale(error) || attempt >= ATTEMPTS) throw error
        await sleep(PAUSE_MS, signal)
      }
    }
  }
}

/** True if a new authorization would help. */
function isStale(error: unknown): boolean {
  const stale = ['NEEDS_DELEGATION', 'INVALID_AUTHORIZATION']
  return error instanceof GeoswapError && stale.includes(error.code)
}

function createAuthorizer(deps: BuilderDeps, signer: EvmSigner) {
  const { chainId, signal } = deps
  const signed = new Map<string, AuthorizationSignature>()
  return async (known: DelegationReply | undefined): Promise<Authorization | undefined> => {
    const wallet = { chainId, walletAddress: signer.address }
    const delegation = known ?? (await deps.calls.delegation(wallet, { signal }))
    if (!needsAuthorization(delegation)) return undefined
    const account = await deps.getAccount(delegation.delegationTarget)
    const fields = toAuthorizationFields(delegation, wallet, account)
    const key = `${fields.address} ${fields.nonce}`
    const signature = signed.get(key) ?? (await orAborted(() => sign(deps, signer, fields), signal))
    signed.set(key, signature)
    return { ...fields, ...signature }
  }
}

async function sign(
  { onSign }: BuilderDeps,
  signer: EvmSigner,
  fields: AuthorizationFields,
): Promise<AuthorizationSignature> {
  if (!signer.signAuthorization) throw cannotPay('delegation')
  await onSign(fields)
  return signer.signAuthorization(fields)
}
