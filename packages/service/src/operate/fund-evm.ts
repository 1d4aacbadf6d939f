import { type Address, formatUnits, type PrivateKeyAccount } from 'viem'
import { describeError } from '../command.ts'
import type { EvmChainConfig } from '../config.ts'
import { missingOf } from '../model/gas-funding.ts'
import { openWallet } from './chain-wallet.ts'
import type { KeyGas } from './gas.ts'

type Funding = { config: EvmChainConfig; keys: readonly KeyGas[] }

/** Pays what the keys lack, one after the other. Balances are read again after the nonce of the first payment. */
export async function fundEvm(
  { config, keys }: Funding,
  account: PrivateKeyAccount,
  say: (text: string) => void,
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
