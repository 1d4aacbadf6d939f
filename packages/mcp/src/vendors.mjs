// Packages that need no loader for TypeScript: imported before it is registered, they load faster.
import '@modelcontextprotocol/sdk/server/mcp.js'
import '@modelcontextprotocol/sdk/server/stdio.js'
import '@modelcontextprotocol/sdk/server/streamableHttp.js'
import 'zod'
