import { parseArgs } from 'node:util'
import { reportListening } from '../node-child.ts'
import { nextOrders } from '../orders.ts'
import { createEvmFaucet, type EvmFaucetOptions } from './evm-faucet.ts'
import { createFaucetServer } from './faucet-server.ts'

export type FaucetOrders = { evm: EvmFaucetOptions[] }

const { values } = parseArgs({ allowPositionals: true, options: { port: { type: 'string', default: '0' } } })
const orders = await nextOrders<FaucetOrders>()
const server = createFaucetServer(orders.evm.map(createEvmFaucet))
server.listen(Number(values.port), '127.0.0.1', () => reportListening(Number(values.port)))
