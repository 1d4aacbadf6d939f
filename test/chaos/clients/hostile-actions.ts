import { geoEscrowAbi } from '@geoswap/protocol'
import type { BuildGeoOpReply } from '@geoswap/wire'
import { address, lamports } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import {
  type Address,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  hashStruct,
  parseAbi,
  parseSignature,
  serializeSignature,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { delegateTo, setCode } from '../../instant-wallet.ts'
import { until, type WorldChain } from '../../world.ts'
import type { EvmChainName } from '../plan.ts'
import { amountOf, type Party, type Scene } from './scene.ts'

// Actions of hostile callers. Whether any of them succeeds is not checked here: the checker examines the
// funds.

type Built = {
  from: EvmChainName
  submission: { geoOpToken: string; signature?: Hex }
  build: BuildGeoOpReply
}

type TokenData = { domain: { verifyingContract: Address }; message: Record<string, string> }

const tokenDataOf = ({ typedData }: Built['build']) => typedData as unknown as TokenData

const TOKEN = parseAbi([
  'function permit(address, address, uint256, uint256, uint8, bytes32, bytes32)',
  'function cancelAuthorization(address, bytes32, bytes)',
])
const CANCEL = {
  CancelAuthorization: [
    { name: 'authorizer', type: 'address' },
    { name: 'nonce', type: 'bytes32' },
  ],
}
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const NOBODY = '0x00000000000000000000000000000000000000d0'
const STRANGER = '0x0000000000000000000000000000000000000011'
const TAKEN = ['locked', 'delivering']
// PUSH1 0 PUSH1 0 REVERT.
const REFUSES = '0x60006000fd'

export async function beforeSubmit(scene: Scene, { plan, wallet }: Party, built: Built): Promise<void> {
  const chain = scene.world.chainNamed(built.from)
  const owner = wallet.address as Address
  const { submission } = built
  switch (plan.behaviour) {
    case 'parallelSubmits':
      return void (await Promise.all(Array.from({ length: 5 }, () => scene.caller.submit(submission))))
    case 'malleatedSignature':
      if (!submission.signature) return
      return void (await scene.caller.submit({ ...submission, signature: malleate(submission.signature) }))
    case 'tamperedToken':
      return void (await scene.caller.submit({ ...submission, geoOpToken: flip(submission.geoOpToken) }))
    case 'sweptBalance': {
      const args = [NOBODY, amountOf(plan)] as const
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
      return void (await chain.as(owner, { to: chain.token('USDC') as Address, data }))
    }
    case 'movedNonce':
      return void (await chain.as(owner, { to: owner }))
    case 'foreignDelegation':
      return delegateTo(chain, owner, chain.contracts.vault)
    case 'spentPermit':
      return spendPermit(chain, built)
    case 'cancelledAuthorization':
      return cancelAuthorization(
        chain,
        { ...tokenDataOf(built.build), nonce: built.build.geoOpHash as Hex },
        wallet as PrivateKeyAccount,
      )
    default:
  }
}

/** A stranger shows the token a wallet's permit, ahead of the escrow. */
async function spendPermit(chain: WorldChain, { submission, build }: Built): Promise<void> {
  const { domain, message } = tokenDataOf(build)
  const { r, s, v } = parseSignature(submission.signature ?? '0x')
  const args = [
    ...[message.owner as Hex, message.spender as Hex, BigInt(message.value ?? 0)],
    ...[BigInt(message.deadline ?? 0), Number(v), r, s],
  ] as never
  const data = encodeFunctionData({ abi: TOKEN, functionName: 'permit', args })
  await chain.as(STRANGER, { to: domain.verifyingContract, data })
}

/** The wallet cancels what it signed. */
export async function cancelAuthorization(
  chain: WorldChain,
  { domain, nonce }: Pick<TokenData, 'domain'> & { nonce: Hex },
  wallet: PrivateKeyAccount,
) {
  const message = { authorizer: wallet.address, nonce }
  const signature = await wallet.signTypedData({
    ...{ domain, types: CANCEL, primaryType: 'CancelAuthorization', message },
  })
  const args = [message.authorizer, message.nonce, signature] as const
  const data = encodeFunctionData({ abi: TOKEN, functionName: 'cancelAuthorization', args })
  await chain.as(STRANGER, { to: domain.verifyingContract, data })
}

export async function afterSubmit(
  scene: Scene,
  party: Party,
  built: Built & { swapId: string },
): Promise<void> {
  const { behaviour } = party.plan
  if (behaviour === 'otherTenant') await scene.stranger.status(built.swapId, 0)
  if (behaviour === 'earlyRefund') await callRefund(scene, built)
  await refuseOutput(scene, party, built.swapId)
}

/** A recipient that refuses once the input is locked; earlier, the swap would only be declined. */
export async function refuseOutput(scene: Scene, { plan, recipient }: Party, swapId: string): Promise<void> {
  if (plan.behaviour !== 'refusingRecipient') return
  await until(async () => {
    const { body } = await scene.caller.status(swapId, 0)
    return body.status !== 'pending' || body.timeline?.some(({ stage }) => TAKEN.includes(stage))
  }, 40_000).catch(() => undefined)
  await setCode(scene.world.chainNamed(plan.to), recipient as Address, REFUSES)
}

type Input = { geoOpToken: string; signedTransaction: string; destination: string }

export async function beforeSolanaSubmit(scene: Scene, { plan }: Party, input: Input): Promise<void> {
  const { solana, caller } = scene
  if (plan.behaviour === 'forgedTransaction') {
    const bytes = Buffer.from(input.signedTransaction, 'base64')
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
    await caller.submitSolana({ ...input, signedTransaction: bytes.toString('base64') })
  }
  if (plan.behaviour !== 'fundedAccount') return
  const destination = address(input.destination)
  const transfer = { source: solana.payer, destination, amount: lamports(1_000_000n) }
  await solana.send(getTransferSolInstruction(transfer)).catch(() => undefined)
}

/** The same signature in its other form, which the curve accepts and the service must not. */
function malleate(signature: Hex): Hex {
  const { r, s, yParity } = parseSignature(signature)
  const other = CURVE_ORDER - BigInt(s)
  return serializeSignature({
    r,
    s: `0x${other.toString(16).padStart(64, '0')}`,
    yParity: yParity === 0 ? 1 : 0,
  })
}

function flip(token: string): string {
  const at = Math.floor(token.length / 2)
  return `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`
}

/** The permissionless refund, long before its deadline. */
async function callRefund({ world }: Scene, { from, build }: Omit<Built, 'submission'>): Promise<void> {
  const { message, types } = build.operation as unknown as {
    message: Record<string, string> & { delivery: Record<string, string> }
    types: Record<string, never>
  }
  const chain = world.chainNamed(from)
  const big = (name: string) => BigInt(message[name] ?? 0)
  const op = {
    ...{
      wallet: message.wallet as Hex,
      inputToken: message.inputToken as Hex,
      inputAmount: big('inputAmount'),
    },
    ...{ index: big('index'), opDeadline: big('opDeadline'), refundDeadline: big('refundDeadline') },
    delivery: hashStruct({
      data: message.delivery,
      types: { Delivery: types.Delivery as never },
      primaryType: 'Delivery',
    }),
  }
  const args = [message.locker as Hex, op] as const
  const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'refund', args })
  await chain.as(STRANGER, { to: chain.contracts.escrow, data })
}
