#!/usr/bin/env node
// The sources are TypeScript, run by tsx. Imports through tsx take three times as long, so packages that do
// not need it are imported first. The list of commands needs none of them.
const isListOnly = ['--help', 'help', undefined].includes(process.argv[2])
const vendors = ['@geoswap/wallet/vendors']
if (process.argv[2] === 'mcp') vendors.push('@geoswap/mcp/vendors')
if (!isListOnly) await Promise.all(vendors.map((name) => import(name)))

const { register } = await import('tsx/esm/api')
register()
const { main } = await import('../src/main.ts')
await main()
