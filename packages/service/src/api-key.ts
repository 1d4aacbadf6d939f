import { terminal } from './command.ts'
import { runApiKeyCommand } from './operate/api-key.ts'

process.exitCode = await runApiKeyCommand(process.argv.slice(2), process.env, terminal)
