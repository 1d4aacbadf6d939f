import { compileProduct } from './compile.ts'
import { runTests } from './run-tests.ts'

// The whole suite against the same sources, compiled without the IR pipeline: no test may depend on the pipeline. Gas
// does, and is left out.
const { isGreen, output } = await runTests(compileProduct({ viaIR: false }), ['packages/contracts/test'])
console.log(output)
process.exit(isGreen ? 0 : 1)
