import { type Address, getAddress, isAddress } from 'viem'
import { createEvmBuilder } from '../authorize.ts'
import type { EvmBuild } from '../calls.ts'
import { callNode } from '../checks/deployment.ts'
import { checkGeoOp } from '../checks/geo-op.ts'
import { canSend, checkPayment } from '../checks/payment.ts'
import { readGeoOp } from '../checks/read-fields.ts'
import { SKEW_SECONDS } from '../checks/terms.ts'
import { cannotPay, getMethod, quoteBy } from '../methods.ts'
import type { EvmSigner, SignatureLifetime } from '../signers.ts'
import type { Check, Choice, Chosen, Family, Signed } from './family.ts'

type Life = SignatureLifetime & { family: 'evm' }

/** EVM chains: a wallet signs an op, or sends its input to the op's own address. */
export const evm: Family = {
  name: 'evm',
  // In any case; mixed case needs a valid checksum.
  parseAddress(text) {
    const isOneCase = text === text.toLowerCase() || /^0x[0-9A-F]{40}$/.test(text)
    return isAddress(text, { strict: !isOneCase }) ? getAddress(text) : undefined
  },
  isComplete: ({ escrow, account }) => escrow !== undefined && account !== undefined,
  isVerifiable: true,
  whatIsMissing: (chainId) =>
    `The contracts on chain ${chainId} are not known, and the service is not trusted to name them. ` +
    `Give createClient a node, rpcUrls: { ${chainId}: URL }, or contracts: { ${chainId}: { account, escrow } }.`,
  namedBy: ({ operation }: EvmBuild) => ({ escrow: operation?.domain?.['verifyingContract'] }),
  async choose(choice) {
    const chosen = await chooseMethod(choice)
    return { chosen, quote: quoteBy(choice.quote, chosen.method), method: chosen.method }
  },
  createBuilder: createEvmBuilder,
  sign: signOp,
  lockableUntil: ({ opDeadline }: Life) => opDeadline + SKEW_SECONDS,
  async isLockable({ opDeadline }: Life, rpcUrl: string) {
    const block = (await callNode(rpcUrl, 'eth_getBlockByNumber', ['latest', false])) as { timestamp: string }
    return Number(block.timestamp) <= opDeadline
  },
}

/** Reads the wallet's delegation only if there is a choice, or the signer cannot delegate. */
async function chooseMethod({ calls, request, quote, signer, method, signal }: Choice): Promise<Chosen> {
  if (method) return { method }
  const methods = quote.originMethods?.map((each) => each.method) ?? ['delegation' as const]
  if (methods.length < 2 && (signer as EvmSigner).signAuthorization) return { method: 'delegation' }
  const { originChain: chainId, walletAddress } = request
  const delegation = await calls.delegation({ chainId, walletAddress }, { signal })
  return { method: getMethod(signer as EvmSigner, methods, delegation), delegation }
}

async function signOp(
  build: EvmBuild,
  signer: EvmSigner,
  { terms, context, method, onSign }: Check,
): Promise<Signed> {
  const { geoOpToken } = build
  const { originChain: chainId } = terms
  const hash = checkGeoOp(build, terms, context)
  const op = readGeoOp(build.operation.message)
  const escrow = context.origin.escrow as Address
  const act = checkPayment(build, method, { chainId, escrow, hash, op })
  const life: Life = { family: 'evm', chainId, opDeadline: Number(op.opDeadline) }
  if ('to' in act) {
    if (!canSend(signer)) throw cannotPay(method)
    await onSign({ payment: act }, life)
    return { submission: { geoOpToken }, life, payment: act }
  }
  const { signTypedData, signHash } = signer
  if (!signTypedData && (!signHash || method !== 'delegation')) throw cannotPay(method)
  await onSign({ hash, typedData: signTypedData && act.typedData }, life)
  const signature = await (signer.signTypedData?.(act.typedData) ?? signer.signHash?.(hash))
  return { submission: { geoOpToken, signature }, life }
}
