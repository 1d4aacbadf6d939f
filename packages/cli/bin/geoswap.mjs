#!/usr/bin/env node
// The sources are TypeScript, which tsx reads. Whatever is imported past tsx takes three times as long, so what
// does not need it comes first; the list of commands needs none of that.
const isListOnly = ['--help', 'help', undefined].includes(process.argv[2])
const vendors = ['viem', 'viem/accounts', '@solana/kit', '@solana-program/token']
if (process.argv[2] === 'mcp') {
  const server = '@modelcontextprotocol/sdk/server'
  vendors.push(`${server}/mcp.js`, `${server}/stdio.js`, `${server}/streamableHttp.js`, 'zod')
}
if (!isListOnly) await Promise.all(vendors.map((name) => import(name)))

const { register } = await import('tsx/esm/api')
register()
const { main } = await import('../src/main.ts')
await main()
