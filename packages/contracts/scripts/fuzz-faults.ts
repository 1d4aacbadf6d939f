import { readFileSync } from 'node:fs'
import { runFuzz, SENTENCES } from '../test/run-fuzz.ts'
import { compileProduct } from './compile.ts'

// `npm run fuzz:contracts:faults`: for each sentence a fault that makes it untrue, so that none is true by chance.
type Fault = { sentence: number; file: string; from: string; to: string }

const close = 'if (place.word != word | SlotLib.LOCKED) revert NotLocked();'
/** Also from the other outcome. */
const closeAgain = `bool isClosed = place.word << 34 == word << 34 && place.word != word | outcome;
        if (place.word != word | SlotLib.LOCKED && !isClosed) revert NotLocked();`
const faults: readonly Fault[] = [
  {
    sentence: 0,
    file: 'src/GeoEscrow.sol',
    from: '_push(op.inputToken, op.wallet, op.inputAmount)',
    to: '_push(op.inputToken, op.wallet, op.inputAmount - 1)',
  },
  { sentence: 1, file: 'src/escrow/EscrowBase.sol', from: close, to: '' },
  { sentence: 1, file: 'src/escrow/EscrowLocks.sol', from: 'place.word = word;', to: 'place.word = 0;' },
  {
    sentence: 0,
    file: 'src/escrow/EscrowOpAddress.sol',
    from: '_credit(wallet, token, received)',
    to: '_credit(wallet, token, amount)',
  },
  { sentence: 2, file: 'src/escrow/EscrowBase.sol', from: close, to: closeAgain },
  {
    sentence: 3,
    file: 'src/GeoEscrow.sol',
    from: '_push(op.inputToken, op.wallet, op.inputAmount)',
    to: '_push(op.inputToken, msg.sender, op.inputAmount)',
  },
  {
    sentence: 4,
    file: 'src/GeoEscrow.sol',
    from: 'if (block.timestamp <= op.refundDeadline) revert TooEarly();',
    to: 'if (block.timestamp <= op.refundDeadline || attestedRefundsStopped) revert TooEarly();',
  },
  {
    sentence: 5,
    file: 'src/GeoVault.sol',
    from: 'if (!word.accepts(index)) revert AlreadyDelivered();',
    to: '',
  },
  {
    sentence: 6,
    file: 'src/escrow/EscrowOpAddress.sol',
    from: 'moveFromOpAddress{gas: TOKEN_PUSH_GAS}(token, at, op.wallet, held)',
    to: 'moveFromOpAddress{gas: TOKEN_PUSH_GAS}(token, at, msg.sender, held)',
  },
  {
    sentence: 7,
    file: 'src/escrow/EscrowAttesters.sol',
    from: 'uint256 since = block.timestamp + MAX_HOLD + 1;',
    to: 'uint256 since = block.timestamp + MAX_HOLD - 6 days;',
  },
  {
    sentence: 8,
    file: 'src/escrow/EscrowAttesters.sol',
    from: 'if (signatures.length != threshold * SIGNATURE_SIZE) revert NotAttested();',
    to: 'threshold = signatures.length / SIGNATURE_SIZE;',
  },
  {
    sentence: 9,
    file: 'src/GeoEscrow.sol',
    from: 'if (amount > cap.room()) revert ClaimCapReached();',
    to: '',
  },
  {
    sentence: 9,
    file: 'src/GeoEscrow.sol',
    from: 'limitPerHour >= word.limit() || ',
    to: '',
  },
]

for (const { sentence, file, from, to } of faults) {
  const source = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
  if (source.split(from).length !== 2) throw new Error(`${file} has not exactly one: ${from}`)
  const changed = { [file]: source.replace(from, to) }
  const contracts = compileProduct({ viaIR: false, changed })
  const { untrue, failure } = await runFuzz({ runs: 64, depth: 500, seed: '0x67656f', contracts })
  const text = SENTENCES[sentence] ?? ''
  const isNoticed = untrue.includes(text)
  console.log(`${isNoticed ? 'noticed' : 'NOT NOTICED'}: ${text}${failure ? ` (${failure})` : ''}`)
  if (!isNoticed) process.exitCode = 1
}
process.exit()
