import { terminal } from './command.ts'
import { runWebhookCommand } from './operate/webhook.ts'

process.exitCode = await runWebhookCommand(process.argv.slice(2), process.env, terminal)
