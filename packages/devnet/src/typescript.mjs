import { basename } from 'node:path'
import { register } from 'tsx/esm/api'

// Preloaded into children whose file is TypeScript. Imports through the loader take three times as long, so packages
// that do not need it are imported before it is registered.
const evm = ['viem', 'viem/accounts']
const solana = ['@solana/kit', '@solana-program/system', '@solana-program/token']
const vendors = {
  'evm-chain.ts': [
    'hardhat/internal/hardhat-network/jsonrpc/handler.js',
    'hardhat/internal/hardhat-network/provider/provider.js',
    'viem',
    'ws',
  ],
  'keeper.ts': evm,
  'run.ts': [...evm, ...solana],
  'solana-chain.ts': [...solana, '@solana-program/compute-budget', 'litesvm', 'ws'],
}
await Promise.all((vendors[basename(process.argv[1] ?? '')] ?? []).map((name) => import(name)))
register()
