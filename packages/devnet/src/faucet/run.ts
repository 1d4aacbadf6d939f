import { parseArgs } from 'node:util'
import { receiveOptions } from '../child-options.ts'
import { reportListening } from '../node-child.ts'
import { createEvmFaucet, type EvmFaucetOptions } from './evm-faucet.ts'
import { createFaucetServer } from './faucet-server.ts'
import { createSolanaFaucet, type SolanaFaucetOptions } from './solana-faucet.ts'

export type FaucetOptions = { evm: EvmFaucetOptions[]; solana: SolanaFaucetOptions }

const { values } = parseArgs({ allowPositionals: true, options: { port: { type: 'string', default: '0' } } })
const options = await receiveOptions<FaucetOptions>()
const solana = await createSolanaFaucet(options.solana)
const server = createFaucetServer([...options.evm.map(createEvmFaucet), solana])
server.listen(Number(values.port), '127.0.0.1', () => reportListening(Number(values.port)))
