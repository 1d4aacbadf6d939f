import { parseArgs } from 'node:util'
import { reportListening } from '../node-child.ts'
import { nextOrders } from '../orders.ts'
import { createEvmFaucet, type EvmFaucetOptions } from './evm-faucet.ts'
import { createFaucetServer } from './faucet-server.ts'
import { createSolanaFaucet, type SolanaFaucetOptions } from './solana-faucet.ts'

export type FaucetOrders = { evm: EvmFaucetOptions[]; solana: SolanaFaucetOptions }

const { values } = parseArgs({ allowPositionals: true, options: { port: { type: 'string', default: '0' } } })
const orders = await nextOrders<FaucetOrders>()
const solana = await createSolanaFaucet(orders.solana)
const server = createFaucetServer([...orders.evm.map(createEvmFaucet), solana])
server.listen(Number(values.port), '127.0.0.1', () => reportListening(Number(values.port)))
