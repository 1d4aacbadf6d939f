const { subtask } = require('hardhat/config')
const { TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD } = require('hardhat/builtin-tasks/task-names')
const solc = require('solc')
const settings = require('./compiler.json')

/** The compiler comes from npm, so that nothing is downloaded. */
subtask(TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD, async () => ({
  compilerPath: require.resolve('solc/soljson.js'),
  isSolcJs: true,
  version: '0.8.37',
  longVersion: solc.version(),
}))

/** @type {import('hardhat/config').HardhatUserConfig} */
module.exports = {
  solidity: { version: '0.8.37', settings },
  paths: { sources: './src', tests: './test', cache: './cache', artifacts: './artifacts' },
  networks: { hardhat: require('./network.json') },
}
