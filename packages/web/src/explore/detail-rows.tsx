import type { StatusReply, SwapRecord } from '@geoswap/sdk'
import { formatUnits, type Unit } from '../amounts.ts'
import { Copyable } from '../parts/copyable.tsx'
import { Row } from '../parts/row.tsx'
import { chainOf, tokenOf } from '../service/catalog.ts'
import { useSession } from '../service/session.ts'
import { paidWord } from './paid.ts'

/** The agreed amounts and the result. */
export function DetailRows({ swap, record }: { swap: StatusReply; record: SwapRecord | undefined }) {
  const { catalog } = useSession()
  const input = record && tokenOf(catalog, swap.originChain, record.inputToken)
  const output = record && tokenOf(catalog, swap.destinationChain, record.outputToken)
  const { amounts } = swap
  const nameOf = (chainId: number) => chainOf(catalog, chainId)?.name ?? `chain ${chainId}`
  return (
    <dl class="rows">
      <Row name="Swap">
        <Copyable text={swap.swapId} label="swap id" />
      </Row>
      <Row name="Created">{new Date(swap.createdAt).toLocaleString()}</Row>
      <Row name={`${paidWord(swap)} on ${nameOf(swap.originChain)}`}>{write(amounts.input, input)}</Row>
      <Row name={`Quoted on ${nameOf(swap.destinationChain)}`}>{write(amounts.quotedOutput, output)}</Row>
      <Row name="Guaranteed">{write(amounts.minOutput, output)}</Row>
      <Row name="Delivered">{amounts.delivered === undefined ? '–' : write(amounts.delivered, output)}</Row>
      <Row name="Wallet">{record ? <Copyable text={record.walletAddress} label="wallet" /> : '–'}</Row>
      <Row name="Recipient">{record ? <Copyable text={record.recipient} label="recipient" /> : '–'}</Row>
      {swap.deposit && (
        <Row name="Deposit address">
          <Copyable text={swap.deposit.address} label="deposit address" />
        </Row>
      )}
      {swap.deposit?.txHash && (
        <Row name="Deposited by">
          <Copyable text={swap.deposit.txHash} label="transaction of the deposit" />
        </Row>
      )}
      {swap.deposit?.returned?.map(({ token, amount, txHash }) => (
        <Row key={txHash} name="Sent back">
          {write(amount, tokenOf(catalog, swap.originChain, token))}{' '}
          <Copyable text={txHash} label="transaction" />
        </Row>
      ))}
    </dl>
  )
}

function write(amount: string, unit: Unit | undefined): string {
  return unit ? formatUnits(amount, unit) : '…'
}
