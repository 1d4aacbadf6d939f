import {
  geoEscrowAbi,
  type RefundableOp,
  readRefundableOp,
  type SlotState,
  slotStateOf,
} from '@geoswap/protocol'
import { useEffect, useState } from 'preact/hooks'
import { encodeFunctionData } from 'viem'
import { callNode } from '../chain/rpc.ts'
import type { EvmCall } from '../families/family.ts'
import { refundFamily } from '../families/registry.ts'
import { useNow } from '../parts/countdown.tsx'
import { ActionButton } from '../parts/focus.tsx'
import { TxLink } from '../parts/links.tsx'
import { Notice } from '../parts/notice.tsx'
import { Copyable } from '../parts/row.tsx'
import { basePath } from '../route.ts'
import { chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import { Funds, useFunds } from '../swap/funds.tsx'
import { refundCommand } from './next.ts'

// Above the gas that the escrow requires, so that the amount is paid and not just credited.
const REFUND_GAS = 350_000n
const POLL_MS = 500
const INCLUSION_TIMEOUT_MS = 120_000

/** The state of an op on its chain, and the chain's clock in seconds. */
async function readEscrow(
  rpcUrl: string,
  { origin, locker, position, hash }: RefundableOp,
): Promise<{ state: SlotState; chainNow: number }> {
  const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'slot', args: [locker, position] })
  const [word, { timestamp }] = await Promise.all([
    callNode<string>(rpcUrl, 'eth_call', [{ to: origin.escrow, data }, 'latest']),
    callNode<{ timestamp: string }>(rpcUrl, 'eth_getBlockByNumber', ['latest', false]),
  ])
  return { state: slotStateOf(BigInt(word), hash), chainNow: Number(timestamp) }
}

type Sending = { op: RefundableOp; rpcUrl: string; send(call: EvmCall): Promise<string> }

/** Sends the refund and waits for its block. The op's slot, not the receipt, tells whether it succeeded. */
async function sendRefund({ op, rpcUrl, send }: Sending): Promise<string> {
  const args = [op.locker, op.argument] as const
  const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: 'refund', args })
  const { chainId, escrow: to } = op.origin
  const txHash = await send({ chainId, rpcUrl, to, data, gas: REFUND_GAS })
  await waitForReceipt(rpcUrl, txHash)
  const { state } = await readEscrow(rpcUrl, op)
  if (state !== 'refunded') throw new Error(`Transaction ${txHash} refunded nothing.`)
  return txHash
}

async function waitForReceipt(rpcUrl: string, txHash: string): Promise<void> {
  const end = Date.now() + INCLUSION_TIMEOUT_MS
  while (Date.now() < end) {
    if (await callNode<unknown>(rpcUrl, 'eth_getTransactionReceipt', [txHash])) return
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  throw new Error(`Transaction ${txHash} is not in a block yet. Check again later.`)
}

type RefundButtonProps = { op: RefundableOp; rpcUrl: string | undefined }
type State = { words?: string; txHash?: string; isBusy: boolean; problem?: string }

/** Sends the refund from the current wallet. The chain, not the service, decides whether it is possible. */
function RefundButton({ op, rpcUrl }: RefundButtonProps) {
  const { catalog, wallets } = useSession()
  const [state, setState] = useState<State>({ isBusy: false })
  const chain = chainOf(catalog, op.origin.chainId)
  const coin = chain && tokenOf(catalog, chain.chainId, chain.native.address)
  const wallet = refundFamily && wallets.used[refundFamily]
  const escrow = useEscrow(op, rpcUrl)
  const funds = useFunds(chain, coin)
  if (!rpcUrl)
    return (
      <p class="prose">
        This page has no node of this chain, so it cannot send the refund itself. The command can.
      </p>
    )

  const send = async () => {
    if (!wallet?.send) return
    setState({ isBusy: true, words: 'Sending the refund…' })
    await sendRefund({ op, rpcUrl, send: wallet.send }).then(
      (txHash) => setState({ isBusy: false, txHash, words: 'The escrow has sent the input back.' }),
      (error: Error) => setState({ isBusy: false, problem: error.message }),
    )
  }
  return (
    <div class="stack">
      <p class="prose" role="status">
        {state.words ?? escrow.words}
      </p>
      {escrow.canRefund && !state.txHash && coin && chain && (
        <Funds chain={chain} token={coin} funds={funds} />
      )}
      {state.problem && (
        <Notice tone="bad">
          <p>{state.problem} Get a little gas coin for the wallet if it has none, then try again.</p>
        </Notice>
      )}
      {state.txHash ? (
        <TxLink hash={state.txHash} chainId={op.origin.chainId} label="transaction of the refund" />
      ) : (
        <ActionButton
          class="primary"
          isDisabled={!escrow.canRefund || !wallet?.send || state.isBusy}
          onClick={send}
        >
          Refund now
        </ActionButton>
      )}
    </div>
  )
}

const REFRESH_MS = 4_000

/** The state of the escrow and the clock of its chain, updated regularly. */
function useEscrow(op: RefundableOp, rpcUrl: string | undefined): { words: string; canRefund: boolean } {
  const [read, setRead] = useState<{ state: string; chainNow: number; at: number }>()
  const now = useNow()
  const { hash } = op
  useEffect(() => {
    if (!rpcUrl) return undefined
    let isOver = false
    const ask = async () => {
      // A node that does not answer is asked again.
      const answer = await readEscrow(rpcUrl, op).catch(() => undefined)
      if (!isOver && answer) setRead({ ...answer, at: Date.now() })
    }
    void ask()
    const timer = setInterval(() => void ask(), REFRESH_MS)
    return () => {
      isOver = true
      clearInterval(timer)
    }
  }, [hash, rpcUrl])

  if (!read) return { words: 'Asking the chain…', canRefund: false }
  if (read.state === 'claimed')
    return { words: 'The output was delivered and the input claimed.', canRefund: false }
  if (read.state === 'refunded') return { words: 'The escrow has sent the input back.', canRefund: false }
  if (read.state !== 'locked')
    return {
      words: 'The escrow does not hold the input: it was never locked, or was returned earlier.',
      canRefund: false,
    }
  const left = Number(op.refundDeadline) - read.chainNow - Math.floor((now - read.at) / 1_000)
  if (left < 0)
    return { words: 'The deadline has passed. Anyone can send the input back now.', canRefund: true }
  return {
    words: `The escrow holds the input. Anyone can send it back in ${minutes(left)}.`,
    canRefund: false,
  }
}

function minutes(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

type RefundCommandProps = { swapId: string; operation: unknown; rpcUrl: string | undefined }

/** The same refund with the command line, and the signed operation as a file. */
function RefundCommand({ swapId, operation, rpcUrl }: RefundCommandProps) {
  const isLocal = useSession().settings.local !== undefined
  const file = `${swapId}.json`
  const save = () => {
    const url = URL.createObjectURL(
      new Blob([JSON.stringify(operation, null, 2)], { type: 'application/json' }),
    )
    const link = Object.assign(document.createElement('a'), { href: url, download: file })
    link.click()
    URL.revokeObjectURL(url)
  }
  return (
    <>
      <p class="prose">
        {isLocal ? (
          'Or in the folder of geoswap'
        ) : (
          <>
            Or with the command line (<a href={`${basePath}/packages/cli/README.md`}>how to install it</a>)
          </>
        )}
        , with the signed operation as a file:
      </p>
      <p class="command">
        <Copyable text={refundCommand(file, { isLocal, rpcUrl })} label="command" whole />
      </p>
      <button type="button" class="secondary" onClick={save}>
        Save {file.slice(0, 12)}….json
      </button>
    </>
  )
}

type Props = { swapId: string; remembered: unknown }

/** The refund that anyone can send: with a button, or with a command if the page is unavailable. */
export function RefundPanel({ swapId, remembered }: Props) {
  const { settings } = useSession()
  const [pasted, setPasted] = useState('')
  const operation = remembered ?? parse(pasted)
  const op = operation === undefined ? undefined : readOp(operation)
  const rpcUrl = op && settings.rpcUrls[op.origin.chainId]
  return (
    <details class="refund" open={remembered !== undefined}>
      <summary>Refund without the service</summary>
      <div class="stack">
        <p class="prose">
          After the signed deadline, anyone can make the escrow return the input to its wallet. That needs the
          signed operation, a node of the chain, and a little gas coin.
        </p>
        {remembered === undefined && (
          <label class="field">
            <span>The signed operation: the field operation of the build reply, as JSON</span>
            <textarea
              class="mono"
              rows={3}
              spellcheck={false}
              value={pasted}
              onInput={(event) => setPasted(event.currentTarget.value)}
            />
          </label>
        )}
        {remembered === undefined && pasted !== '' && !op && (
          <Notice tone="warn">
            <p>That is not the operation of a swap from an EVM chain.</p>
          </Notice>
        )}
        {op && <RefundButton op={op} rpcUrl={rpcUrl} />}
        {op && <RefundCommand swapId={swapId} operation={operation} rpcUrl={rpcUrl} />}
      </div>
    </details>
  )
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

function readOp(operation: unknown) {
  try {
    return readRefundableOp(operation)
  } catch {
    return undefined
  }
}
