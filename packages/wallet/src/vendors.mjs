// Packages that need no loader for TypeScript: imported before it is registered, they load faster.
import 'viem'
import 'viem/accounts'
import '@solana/kit'
import '@solana-program/token'
