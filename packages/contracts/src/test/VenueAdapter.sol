// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {SafeTransferLib} from "solady/src/utils/SafeTransferLib.sol";
import {IGeoAdapter} from "../interfaces/IGeoAdapter.sol";

/// @dev A venue with its own stock, controlled by `data`: the amounts it takes and gives, and a call in between.
contract VenueAdapter is IGeoAdapter {
    bool public lastOk;

    receive() external payable {}

    function buy(address tokenIn, uint256, address tokenOut, uint256, address recipient, bytes calldata data)
        external
        payable
    {
        (uint256 takes, uint256 gives, address target, bytes memory call) =
            abi.decode(data, (uint256, uint256, address, bytes));
        if (target != address(0)) (lastOk,) = target.call(call);
        if (tokenIn == address(0)) SafeTransferLib.safeTransferETH(msg.sender, msg.value - takes);
        else SafeTransferLib.safeTransferFrom(tokenIn, msg.sender, address(this), takes);
        if (tokenOut == address(0)) SafeTransferLib.safeTransferETH(recipient, gives);
        else SafeTransferLib.safeTransfer(tokenOut, recipient, gives);
    }
}
