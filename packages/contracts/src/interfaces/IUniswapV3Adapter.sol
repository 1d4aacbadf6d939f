// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IGeoAdapter} from "./IGeoAdapter.sol";
import {IUniswapV3Factory} from "./IUniswapV3.sol";

/// @title IUniswapV3Adapter
/// @notice Buys outputs from the pools of one Uniswap V3 factory.
/// @dev `buy` takes as data, packed: the wanted output (32 bytes, at least `amountOut`), the fee of the output token's
///      pool (3). Then for each further pool towards the input: the intermediate token (20) and that pool's fee (3).
interface IUniswapV3Adapter is IGeoAdapter {
    /// @dev Native coin has no pool; its wrapped token has.
    error NativeCoin();
    /// @dev The data is not a route.
    error BadRoute();
    /// @dev The factory has no such pool.
    error NoPool();
    /// @dev Only a pool of the factory, during a swap of this adapter.
    error NotPool();
    /// @dev The wanted output costs more than the budget.
    error TooExpensive();
    /// @dev The pools give less than the minimum.
    error TooLittle();
    /// @dev A pool has nothing left to trade.
    error NoLiquidity();

    /// @notice Pays a pool the input of a swap by this adapter.
    /// @param amount0Delta The amount of token0 due to the pool, if positive.
    /// @param amount1Delta The amount of token1 due to the pool, if positive.
    /// @param data The data this adapter passed to the pool.
    function uniswapV3SwapCallback(int256 amount0Delta, int256 amount1Delta, bytes calldata data) external;

    /// @notice The factory of the pools.
    function FACTORY() external view returns (IUniswapV3Factory);
}
